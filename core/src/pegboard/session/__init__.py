"""The session: a durable, append-only log of events, its locks, and what is folded from it."""

from pegboard.session.fold import Fold as Fold
from pegboard.session.session import Session as Session
from pegboard.session.session import SessionBusy as SessionBusy
from pegboard.session.store import SessionInfo as SessionInfo
from pegboard.session.store import latest as latest
from pegboard.session.store import read_events as read_events
from pegboard.session.store import sessions as sessions
