package hammerspace;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The guide's code, run as it stands: all blocks are one program, in a directory of its own. */
class GuideTest {
    @TempDir Path scratch;

    private void run(String page) throws IOException, InterruptedException {
        List<String> lines = Pattern.compile("^```java\n(.*?)^```$", Pattern.MULTILINE | Pattern.DOTALL).matcher(page).results()
                .flatMap(block -> block.group(1).lines()).toList();
        String program = lines.stream().filter(line -> line.startsWith("import ")).collect(Collectors.joining("\n"))
                + "\nclass Guide {\npublic static void main(String[] arguments) throws Exception {\n"
                + lines.stream().filter(line -> !line.startsWith("import ")).collect(Collectors.joining("\n"))
                + "\n}\n}\n";
        Programs.run(scratch, Files.writeString(scratch.resolve("Guide.java"), program).toString());
    }

    @Test
    void theGuide() throws Exception {
        String page = Files.readString(Scratch.ROOT.resolve("docs/guide/java.md"));
        assertTrue(page.split("```java").length > 8);
        run(page);
    }

    @Test
    void canaryAWrongPageIsNoticed() {
        AssertionError error = assertThrows(AssertionError.class,
                () -> run("# Page\n\n```java\nint x = 1;\n```\n\n```java\nassert x == 2 : x;\n```\n"));
        assertTrue(error.getMessage().contains("AssertionError: 1"), error.getMessage());
    }
}
