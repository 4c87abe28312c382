"""Faults of modules and hooks."""

from __future__ import annotations

from .planting import Planted, at_import

LOADING: dict[str, Planted] = {
    "slow": at_import(
        id="load.time",
        fault="time.sleep(0.5)",
        near="time.sleep(0.01)",
    ),
    "raises": at_import(
        id="load.import",
        fault="import no_such_module_anywhere",
        near="""
try:
    import no_such_module_anywhere
except ImportError: pass
""",
    ),
    "writes": at_import(
        id="load.side_effects",
        fault="open('made.txt', 'w').close()",
        near="open(__file__).close()",
    ),
    "environ": at_import(
        id="load.side_effects",
        fault="os.environ['SAMPLE_WORD'] = 'x'",
        near="os.environ.get('SAMPLE_WORD')",
    ),
    "chdir": at_import(
        id="load.side_effects",
        fault="os.chdir('/')",
        near="os.getcwd()",
    ),
    "signals": at_import(
        id="load.side_effects",
        fault="""
import signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
""",
        near="""
import signal
signal.getsignal(signal.SIGTERM)
""",
    ),
    "never-ends": at_import(
        id="load.side_effects",
        fault="""
import atexit
atexit.register(time.sleep, 10**6)
""",
        near="""
import atexit
atexit.register(time.sleep, 0.01)
""",
    ),
    "ends-its-parent": at_import(
        id="load.import",
        fault="""
import signal
os.kill(os.getppid(), signal.SIGTERM)
time.sleep(0.3)
""",
        near="os.kill(os.getppid(), 0)",
    ),
    "syspath": at_import(
        id="load.side_effects",
        fault="sys.path.insert(0, '/nowhere')",
        near="sys.path.index(sys.path[0])",
    ),
    "starts": at_import(
        id="load.side_effects",
        fault="""
import subprocess
subprocess.run(['true'])
""",
        near="""
import shutil
shutil.which('true')
""",
    ),
    "asks": at_import(
        id="load.side_effects",
        fault="""
import urllib.request
try:
    urllib.request.urlopen('http://example.org')
except OSError: pass
""",
        near="""
import urllib.request
urllib.request.Request('http://example.org')
""",
    ),
    "logs": at_import(
        id="load.side_effects",
        fault="""
import logging
logging.basicConfig(level=10)
""",
        near="""
import logging
logging.getLogger(__name__).setLevel(10)
""",
    ),
    "prints": at_import(
        id="load.prints",
        fault="print('hello')",
        near="""
if __name__ == '__main__':
    print('hello')
""",
    ),
    "threads": at_import(
        id="load.threads",
        fault="threading.Thread(target=time.sleep, args=(60,), daemon=True).start()",
        near="threading.Thread(target=time.sleep, args=(60,), daemon=True)",
    ),
    "dies": at_import(
        id="load.import",
        fault="os._exit(3)",
        near="""
if False:
    os._exit(3)
""",
    ),
    "misspelt": at_import(
        id="hook.known",
        fault="""
@hookimpl
def pegboard_toools(settings): return []
""",
        near="def pegboard_toools(settings): return []",
    ),
    "oversteps": at_import(
        id="hook.known",
        fault="""
@hookimpl
def pegboard_guards(settings): return []
""",
        near="""
@hookimpl
def pegboard_prompt(settings): return []
""",
    ),
    "arguments": at_import(
        id="hook.signature",
        fault="""
@hookimpl
def pegboard_prompt(config): return []
""",
        near="""
@hookimpl
def pegboard_prompt(): return []
""",
    ),
    "wraps": at_import(
        id="hook.signature",
        fault="""
@hookimpl(tryfirst=True)
def pegboard_prompt(settings): return []
""",
        near="""
@hookimpl
def pegboard_prompt(settings): yield from ()
""",
    ),
    "nonsense": at_import(
        id="hook.signature",
        fault="""
@hookimpl
def pegboard_prompt(settings): return ['text']
""",
        near="""
from pegboard import Fragment
@hookimpl
def pegboard_prompt(settings): return [Fragment(text='text')]
""",
    ),
    "version": at_import(
        id="api.version",
        fault="pegboard_api = 99",
        near="pegboard_api = 1",
    ),
}
