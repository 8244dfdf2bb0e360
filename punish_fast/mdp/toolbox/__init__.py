"""Interface of pymdptoolbox 4.0b3 with exact values, for scripts written for that library.

Replace ``import mdptoolbox`` by ``import punish_fast.mdp.toolbox as mdptoolbox``. Classes, arguments and attributes
have the same names as in pymdptoolbox. Q-learning is not supported. Values are optimal. In contrast, pymdptoolbox stops
at the limit ``epsilon`` or ``max_iter``. New code should use `punish_fast.mdp.solve`, which also returns error bounds.
"""

from punish_fast.mdp.toolbox import example as example
from punish_fast.mdp.toolbox import mdp as mdp
from punish_fast.mdp.toolbox import util as util
