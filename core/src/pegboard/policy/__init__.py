"""Policy: rules over touches. Allow, ask or deny, and why. The one resolver for every caller."""

from pegboard.policy.asked import Reading as Reading
from pegboard.policy.compiling import policy_of as policy_of
from pegboard.policy.compiling import rules_of as rules_of
from pegboard.policy.modes import Mode as Mode
from pegboard.policy.modes import choices as choices
from pegboard.policy.modes import mode_of as mode_of
from pegboard.policy.policy import Considered as Considered
from pegboard.policy.policy import Policy as Policy
from pegboard.policy.policy import Verdict as Verdict
from pegboard.policy.rules import Rule as Rule
