package hammerspace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** How the library is loaded, each time by a JVM of its own. */
class LibraryTest {
    @TempDir Path scratch;

    private Path temporary;

    @BeforeEach
    void make() throws IOException {
        temporary = Files.createDirectory(scratch.resolve("temporary"));
    }

    /** Opens a space, and says what the library is and what is left. */
    static final class Program {
        public static void main(String[] arguments) throws IOException {
            try {
                Space.create(Path.of(arguments[0])).close();
            } catch (HammerspaceException failure) {
                System.out.println(failure.getClass().getSimpleName() + ": " + failure.getMessage());
                return;
            }
            Files.readAllLines(Path.of("/proc/self/maps")).stream().filter(line -> line.contains("hammerspace_java"))
                    .map(line -> line.replaceAll("^.*? /", "/")).distinct().forEach(System.out::println);
        }
    }

    private String run(String... options) throws IOException, InterruptedException {
        List<String> arguments = new ArrayList<>(List.of("-Djava.io.tmpdir=" + temporary));
        arguments.addAll(List.of(options));
        arguments.addAll(List.of(Program.class.getName(), "space"));
        return Programs.run(scratch, arguments.toArray(String[]::new));
    }

    private List<Path> left() throws IOException {
        try (Stream<Path> entries = Files.list(temporary)) {
            return entries.filter(each -> each.getFileName().toString().startsWith("hammerspace-")).toList();
        }
    }

    @Test
    void theOneOfTheJarIsCopiedAndLeavesNothing() throws Exception {
        String mapped = run();
        assertTrue(mapped.startsWith(temporary + "/hammerspace-") && mapped.endsWith("(deleted)"), mapped);
        assertEquals(List.of(), left());
    }

    @Test
    void nobodyElseMayEnterItsDirectory() throws IOException {
        Path directory = Library.privateDirectory();
        try {
            assertEquals("rwx------", PosixFilePermissions.toString(Files.getPosixFilePermissions(directory)));
        } finally {
            Files.delete(directory);
        }
    }

    @Test
    void theOneThatIsNamedIsLoadedWhereItIs() throws Exception {
        String platform = System.getProperty("os.name") + "-" + System.getProperty("os.arch");
        Path named = scratch.resolve("named.hammerspace_java.so");
        try (var library = Library.class.getResourceAsStream("native/" + platform + "/libhammerspace_java.so")) {
            Files.copy(library, named);
        }
        assertEquals(named.toString(), run("-Dhammerspace.library=" + named));
    }

    @Test
    void whatCannotBeLoadedIsAnErrorThatSaysWhatToDo() throws Exception {
        String missing = run("-Dhammerspace.library=" + scratch.resolve("missing.so"));
        assertTrue(missing.startsWith("IoException: ") && missing.contains("missing.so"), missing);
        String unknown = run("-Dos.arch=abacus");
        assertTrue(unknown.startsWith("UnsupportedException: ") && unknown.contains("-Dhammerspace.library="), unknown);
        Files.delete(temporary);
        String nowhere = run();
        assertTrue(nowhere.startsWith("IoException: ") && nowhere.contains("java.io.tmpdir"), nowhere);
    }
}
