"""Finding passages: chunkers, lexical and dense indexes, rerankers, and what rests on them. `contracts` says what goes
in and comes out."""
