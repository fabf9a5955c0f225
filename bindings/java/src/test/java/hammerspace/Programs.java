package hammerspace;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Programs that tests run, each in a JVM and a directory of its own. */
final class Programs {
    private Programs() {}

    /** Begins one, with assertions on, that has what the tests have. */
    static Process start(Path directory, String... arguments) throws IOException {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        List<String> command = new ArrayList<>(List.of(java, "-ea", "-cp", System.getProperty("java.class.path")));
        command.addAll(List.of(arguments));
        return new ProcessBuilder(command).directory(directory.toFile()).redirectErrorStream(true).start();
    }

    /** Runs one to its end, which must be a good one. Gives what it printed. */
    static String run(Path directory, String... arguments) throws IOException, InterruptedException {
        Process process = start(directory, arguments);
        String said = new String(process.getInputStream().readAllBytes());
        assertEquals(0, process.waitFor(), said);
        return said.strip();
    }
}
