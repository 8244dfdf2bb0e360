"""Interface of pymdptoolbox 4.0b3 with exact values, for scripts written for that library.

Replace ``import mdptoolbox`` by ``import punish_fast.mdp.toolbox as mdptoolbox``. Names of classes, arguments and
attributes are those of pymdptoolbox. Values are optimal, whereas pymdptoolbox stops iterating at the argument
``epsilon`` or ``max_iter``. New code should use `punish_fast.mdp.solve`, which also returns error bounds.
"""

from punish_fast.mdp.toolbox import example as example
from punish_fast.mdp.toolbox import mdp as mdp
from punish_fast.mdp.toolbox import util as util
