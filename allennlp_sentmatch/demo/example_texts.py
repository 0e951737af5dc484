"""Texts to try a model with, all written for this page."""

CAPTIONS = [
    ("A man is playing a guitar on the street.", "A man is playing music outside."),
    ("Two dogs are running through the snow.", "The dogs are sleeping inside."),
    ("A woman is slicing an onion.", "A woman is cooking dinner for her family."),
    ("There is no boy playing in the water.", "A boy is playing in the water."),
    ("The cat is chasing the dog.", "The dog is chasing the cat."),
    ("A group of people is standing near a bus.", "Some people are near a bus."),
]

GERMAN_CAPTIONS = [
    ("Ein Mann spielt auf der Straße Gitarre.",),
    ("Zwei Hunde rennen durch den Schnee.",),
    ("Eine Frau schneidet in der Küche eine Zwiebel.",),
    ("Drei Kinder springen in einen See.",),
    ("Ein Mädchen mit rotem Hut liest unter einem Baum ein Buch.",),
]

QUICK_START = [
    ("A small kitten is carrying a red rose in the garden.", "A cat is moving a flower."),
    ("A small kitten is carrying a red rose in the garden.", "A dog is moving a flower indoors."),
    ("A small kitten is carrying a red rose in the garden.", "A cat is moving it for a friend."),
    ("A hungry waiter is breaking a violin before dinner.", "A man is repairing an instrument."),
    ("A young toddler is holding up a red novel in the kitchen.", "Nobody is holding up a novel."),
]

PARAPHRASES = [
    (
        "The company said its profit rose by ten percent in the third quarter.",
        "Profit in the third quarter was up ten percent, the company said.",
    ),
    (
        "The company said its profit rose by ten percent in the third quarter.",
        "The company expects its profit to fall by ten percent in the next quarter.",
    ),
    (
        "Police said two men were arrested on Friday after a chase.",
        "Two men were arrested Friday, police said.",
    ),
    ("How can I learn to swim?", "What is the best way to learn swimming?"),
    ("How can I learn to swim?", "How can I teach my dog to swim?"),
]

REVIEWS = [
    ("A warm , funny and moving film .",),
    ("The story is dull and the acting is worse .",),
    ("It is not a bad movie , but it is too long .",),
    ("The first half is charming ; the second is a mess .",),
    ("I have seen it twice and would see it again .",),
]

QUESTIONS = [
    ("Who wrote the first novel ?",),
    ("What city has the largest library in the world ?",),
    ("How many people live in France ?",),
    ("What does the abbreviation UN stand for ?",),
    ("Why is the sky blue ?",),
]

ANSWERS = [
    (
        "how do bees make honey",
        "Honey was known to the people of the ancient world .\n"
        "The bees collect nectar from flowers and store it in the hive , where it becomes honey .\n"
        "A hive has one queen .\n"
        "Some people are allergic to bees .",
    ),
    (
        "who discovered the moons of the planet Jupiter",
        "Jupiter is the largest planet of the solar system .\n"
        "Four of its moons were discovered by Galileo in 1610 .\n"
        "The moon is full once a month .",
    ),
    (
        "when was the first train built",
        "The train leaves the station at noon .\n"
        "The first steam train was built in England in 1804 .\n"
        "Trains are slower than planes .",
    ),
]

_LIGHTHOUSE = (
    "The lighthouse of Orm stood on a rock so small that its keeper, old Brita, could walk around "
    "it in forty steps. One winter night the lamp went out. Brita had no oil left, so she burned "
    "her table, her two chairs and, at last, her wooden bed. In the morning a ship came in with "
    "torn sails. The captain gave her a new bed, and a barrel of oil every year."
)

_BAKER = (
    "A baker in the town of Lund had a cat that slept in the flour. Every day the cat came out "
    "white and frightened the children, who took it for a ghost. The mayor told the baker to wash "
    "the cat. The baker washed it three times, but in the evening it was white again, because it "
    "loved the warm flour more than anything."
)

PASSAGES = [
    (_LIGHTHOUSE, "What did Brita burn when the lamp went out?"),
    (_LIGHTHOUSE, "What did the captain give her?"),
    (_LIGHTHOUSE, "Why did Brita burn her table?"),
    (_BAKER, "Where did the cat sleep?"),
    (_BAKER, "Why were the children frightened?"),
]

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
"""Sentences to search."""
