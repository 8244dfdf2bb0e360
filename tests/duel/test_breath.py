"""Breaths are those of the slow model."""

import numpy as np
from houses import house_rules
from hypothesis import given, settings
from hypothesis import strategies as st

from bench import reference
from punish_fast.duel.breath import play_breaths
from punish_fast.punish._clash import LOSS, WIN
from punish_fast.punish.codes import State, split_digits, state_of_digits, to_decimal
from punish_fast.punish.states.space import StateSpace


@given(rules=house_rules(), data=st.data())
@settings(max_examples=15)
def test_views_after_a_breath_are_the_slow_models(rules, data):
    space = StateSpace(rules)
    for _ in range(20):
        row = data.draw(st.integers(0, int(space.layer_ptr[-2]) - 1))
        state = reference.State(*space.state(row))
        actions = [
            data.draw(st.sampled_from(reference.legal_actions(rules, seen)))
            for seen in (state, data.draw(st.sampled_from(mirrors(rules, state))))
        ]
        unseen = list(reference.unseen_cards(rules, state))
        plays, drawn = [], []
        for action in actions:
            deck = [card for card in reference.CARDS if unseen[card - 1]]
            drawn.append(data.draw(st.sampled_from(deck)) if reference.is_feint(action) else 0)
            plays.append(reference.plays_of(action, drawn[-1]))
        views = split_digits(np.array([to_decimal(State(*state))]))
        found = play_breaths(rules, views, [actions], [[(card - 1) % 6 for card in drawn]])
        after = reference.play(rules, state, *plays)
        assert found.resolved[0].tolist() == [(play.resolved - 1) % 6 for play in plays]
        own, enemy = (play.resolved for play in plays)
        taken = reference.damage(rules, enemy, own), reference.damage(rules, own, enemy)
        assert found.hp[0].tolist() == [state.own_hp - taken[0], state.enemy_hp - taken[1]]
        if isinstance(after, str):
            assert found.result[0] == (WIN if after == reference.WIN else LOSS)
        else:
            assert found.result[0] == 0
            assert tuple(state_of_digits(found.digits[0].tolist())) == tuple(after)


def mirrors(rules, state):
    """Return what the enemy may see."""
    hands = reference.hands(reference.unseen_cards(rules, state), state.enemy_hand)
    return [reference.mirror(state, hand) for hand in hands]
