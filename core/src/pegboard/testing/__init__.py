"""For plugin authors' tests: a board around functions, without discovery, network or model.

fixtures  the pytest plugin (entry point `pytest11`), the one module here that needs pytest
bench     the board behind it
scripted  a model that says what a script says
writes    a detector of writes by code that should only read
"""
