"""From a claim to its evidence: search, pages, passages, filters, reranking and choice. `contracts` says what each step
takes and gives, `pipeline` is their order."""
