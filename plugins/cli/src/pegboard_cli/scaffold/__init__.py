"""`pegboard plugin new`: a whole package for an author to begin with.

    naming      which names a plugin may have, and what follows from one
    writing     the templates, and a folder written whole or not at all

`templates/KIND` with `templates/common` is a working plugin called `sample-plugin`: it is linted as it lies there, and its
tests run there. A new plugin is the same with another name. No template says the name in any other way than with the hyphen
or the underscore, so replacing these two is all there is to it.
"""
