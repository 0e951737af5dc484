"""Examples of a model's task, and a small corpus to search."""

from allennlp_sentmatch.demo.demo_model import DemoModel
from allennlp_sentmatch.demo.tasks.example_texts import CAPTIONS, QUICK_START

NUMBER_OF_EXAMPLES = 5

CORPUS = [
    *dict.fromkeys(text for pair in CAPTIONS + QUICK_START for text in pair),
    "A man is playing a flute.",
    "A girl is playing the piano.",
    "A band is playing on a stage in front of a crowd.",
    "A woman is dancing in the rain.",
    "A child is jumping into a pool.",
    "A boy is swimming in the lake.",
    "A black dog is running on the beach.",
    "Three puppies are playing with a ball in the grass.",
    "A cat is sleeping on the sofa.",
    "A horse is jumping over a fence.",
    "A woman is cutting vegetables in the kitchen.",
    "A chef is preparing a meal.",
    "A man is eating a sandwich at a table.",
    "Two children are drinking milk.",
    "A man is riding a bicycle down the street.",
    "A person is riding a motorcycle.",
    "A bus is driving through the city.",
    "People are waiting for a train.",
    "A soccer player is kicking the ball.",
    "Two teams are playing a game on the field.",
    "A climber is hanging from a rock.",
    "A woman is reading a book under a tree.",
    "A man is talking on the phone.",
    "An old man is sitting on a bench.",
    "A baby is laughing at its mother.",
    "A painter is working on a large picture.",
    "The terrier is guarding a tulip on the beach.",
    "A father is repairing a guitar in the attic.",
    "A pony is damaging a carrot in the garden.",
    "The actress is burying a novel because it is late.",
]


def choose_examples(model: DemoModel) -> list[tuple[str, ...]]:
    """Choose examples of a model's task, those with the fewest unknown words first."""
    known_first = sorted(
        model.task.examples(), key=lambda example: len(model.unknown_words(*example))
    )
    return known_first[:NUMBER_OF_EXAMPLES]
