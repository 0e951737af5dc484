"""RCRN's entailment model, which is a siamese classifier of many parts: do they fit together?"""

import torch

from tests.models.model_contract import ClassifierContract


class TestRcrnEntailment(ClassifierContract):
    config = "rcrn_entailment.jsonnet"
    json = {"premise": "A woman waits for the bus .", "hypothesis": "She waits ."}
    text_keys = ("premise", "hypothesis")

    def test_characters_and_tags_are_read(self):
        tokens = self.dataset.as_tensor_dict()["premise"]
        before = self.model.encode(tokens)
        for name in ("token_embedder_characters", "token_embedder_tags"):
            embedder = getattr(self.model._text_field_embedder, name)
            with torch.no_grad():
                for parameter in embedder.parameters():
                    parameter.add_(1.0)
            after = self.model.encode(tokens)
            assert (before - after).abs().max() > 1e-4, name
            before = after
