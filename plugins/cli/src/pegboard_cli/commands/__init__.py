"""The commands, a module each: it parses, calls one library function, and exits with its code."""
