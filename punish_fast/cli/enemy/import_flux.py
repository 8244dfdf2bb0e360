"""``punish-fast enemy import-flux``: convert the original notebook's published network to a strategy.

JSON keys:
    units (list of integers): Number of units in each layer, the input first.
    *write_network
    seconds (object of numbers by stage, seconds): Duration of each stage, and the `total`.
"""

from pathlib import Path

from punish_fast.cli.enemy.choices import write_network
from punish_fast.cli.frame.options import CommonOptions, OutputOption, PlayedRulesOption, argument, verb
from punish_fast.cli.frame.outputs import HDF5, check_inputs, default_strategy


class ImportFluxOptions(CommonOptions):
    """Options of ``enemy import-flux``."""

    parameters: Path = argument("PARAMS.json", "Weights and biases of each layer, as stored by Flux.")
    rules: PlayedRulesOption = "tabletop"
    output: OutputOption = None


@verb("punish-fast enemy import-flux general_pawnn_parameters.json -o general-pawnn.h5", stage="network")
def import_flux(options: ImportFluxOptions) -> None:
    """Convert the notebook's published network, or any ReLU network with softmax output, to a strategy.

    The default output is named after the input file: parameters.h5 for parameters.json.
    """
    from punish_fast.enemies.pawnn import NetworkError, network_of
    from punish_fast.punish.rules import load_rules
    from punish_fast.punish.states.space import StateSpace
    from punish_fast.store.formats.notebook_parser import read_flux

    file, rules = options.parameters, load_rules(options.rules)
    origin = {"method": "import-flux", "file": file.name}
    check_inputs(file)
    output = options.output or default_strategy(Path(f"{file.stem}.h5"), rules, origin)
    options.check_outputs(output, endings=HDF5)
    layers = read_flux(file)
    try:
        network = network_of(rules, layers)
    except NetworkError as error:
        raise NetworkError(f"{file}: {error}") from None
    with options.stages.clock("states"):
        space = StateSpace(rules)
    report = {
        "units": [len(network.layers[0][0]), *(len(bias) for _, bias in network.layers)],
        **write_network(options, space, network, file.stem, origin, output),
    }
    options.print(report | {"seconds": options.stages.clock.seconds_in_all()}, then=("play", output))
