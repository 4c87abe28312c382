"""A board's tools in the agents of other frameworks, down the same road: guarded, decided, asked about, recorded.

    pegboard_adapters.pydantic_ai     PegboardToolset, a toolset of pydantic-ai   (extra `pydantic-ai`)
    pegboard_adapters.openai_agents   tools(), function tools of the Agents SDK   (extra `openai-agents`)

A module imports its framework; this package imports none. docs/python.md shows both at work.
"""
