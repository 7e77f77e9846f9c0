"""Items whose right answers are known: training and qualification before work, and checks among it.

`keys` sets items apart, `giving` hands them out, `results` compares answers with keys and says what follows from that,
`tables` reads keys from files, `forms` has their forms, `standing` is what researchers decide about a person, and
`queries` what pages show.
"""
