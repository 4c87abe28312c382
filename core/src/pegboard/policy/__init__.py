"""Policy: rules over touches. Allow, ask or deny, and why. The one resolver for every caller."""

from pegboard.policy.rules import Policy as Policy
from pegboard.policy.rules import Verdict as Verdict
