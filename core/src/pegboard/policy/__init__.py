"""Policy: rules over touches. Allow, ask or deny, and why. The one resolver for every caller."""

from pegboard.policy.compiling import rules_of as rules_of
from pegboard.policy.policy import Considered as Considered
from pegboard.policy.policy import Policy as Policy
from pegboard.policy.policy import Verdict as Verdict
from pegboard.policy.rules import Rule as Rule
