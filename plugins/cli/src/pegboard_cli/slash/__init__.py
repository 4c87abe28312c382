"""Slash commands that every front end has (`pegboard.slash`): each gives blocks, made of what the command line shows.

Texts in blocks are as they came from models, tools and files: who draws them makes them safe.
"""
