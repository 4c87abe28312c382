"""Configuration: layers, origins, and what an untrusted project may say."""
