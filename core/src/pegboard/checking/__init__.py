"""`pegboard plugin check`: whether a plugin does what Pegboard asks of one, told as findings with stable ids.

    target     what is to be checked: a folder, a wheel, an installed distribution
    report     findings, and the report that they make
    child      runs the checks in a child process, which may hang or die
    inside     what that child does
    checks     the checks of one target, in this process
    loading    load.* hook.* api.version
    declared   what a tool says of itself; `phrases` holds it against the tools of others
    bench      a board around a plugin, in a throw-away workspace; `watching` sees what happens there
    samples    arguments that fit a tool, and arguments that do not
    arguments  calls that do not fit; `calling`: calls that do, and such as are stopped
    drawing    render.*: what tools return, in each form that is installed
    roles      guards, approvers, observers; `objects`: providers, launchers, commands
    written    the manifest
    ending     what is called when the program ends

Nothing here is imported by anything but the command. A check runs the plugin's code, with the person's rights: in a folder
of its own, without a network as far as Python is asked for one, and under limits.
"""
