package hammerspace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.toml.TomlMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/** All languages do the same: the cases in {@code spec/}. */
class SpecTest {
    private static final Path SPEC = Scratch.ROOT.resolve("spec");

    @TempDir Path scratch;

    private record Case(String name, List<String> steps, int fails) {
        /** A JVM cannot fork, so its runner leaves these cases out. */
        boolean forks() {
            return steps.contains("fork");
        }
    }

    private static List<Case> cases() throws IOException {
        List<Case> cases = new ArrayList<>();
        try (Stream<Path> files = Files.list(SPEC).filter(file -> file.toString().endsWith(".toml")).sorted()) {
            for (Path file : (Iterable<Path>) files::iterator) {
                String stem = file.getFileName().toString().replace(".toml", "");
                for (JsonNode found : new TomlMapper().readTree(file.toFile()).get("case")) {
                    cases.add(read(stem, found));
                }
            }
        }
        return cases;
    }

    private static Case read(String stem, JsonNode found) {
        List<String> steps = new ArrayList<>();
        found.get("steps").forEach(step -> steps.add(step.asText()));
        return new Case(stem + ": " + found.get("name").asText(), steps, found.path("fails").asInt());
    }

    @TestFactory
    Stream<DynamicTest> everyCase() throws IOException {
        List<Case> cases = cases();
        return cases.stream()
                .filter(each -> !each.forks())
                .map(each -> DynamicTest.dynamicTest(each.name, () -> run(each, scratch.resolve("" + cases.indexOf(each)))));
    }

    private static void run(Case each, Path path) throws SpecRunner.Failed {
        SpecRunner runner = new SpecRunner(path);
        if (each.fails == 0) {
            runner.run(each.steps);
            return;
        }
        SpecRunner.Failed failed = assertThrows(SpecRunner.Failed.class, () -> runner.run(each.steps));
        assertEquals(each.fails, failed.step, failed.getMessage());
    }

    @Test
    void onlyCasesOfForksAreLeftOut() throws IOException {
        for (Case each : cases()) {
            assertTrue(!each.forks() || each.name.startsWith("fork: ") || each.fails > 0, each.name);
        }
    }
}
