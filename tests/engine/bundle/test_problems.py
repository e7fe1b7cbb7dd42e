from short_memory.bundle.problems import Problem


def test_a_problem_reads_as_file_line_code_and_words():
    assert (
        str(Problem("manifest.yaml", 7, "MAN-002", "id is 5. Use letters."))
        == "manifest.yaml:7 MAN-002 id is 5. Use letters."
    )


def test_problems_sort_by_file_then_line_then_code():
    first, last = Problem("a", 2, "B", ""), Problem("b", 1, "A", "")
    between = [Problem("a", 10, "A", ""), Problem("a", 10, "B", "")]
    assert sorted([last, *between, first]) == [first, *between, last]
