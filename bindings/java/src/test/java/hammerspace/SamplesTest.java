package hammerspace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SamplesTest {
    private static final Path SAMPLES = Scratch.ROOT.resolve("bindings/java/samples");

    @TempDir Path scratch;

    @Test
    void aVersionIsPublishedAndRead() throws Exception {
        String said = Programs.run(scratch, SAMPLES.resolve("Publish.java").toString());
        assertTrue(said.startsWith("published version 1\npublished version 2\n") && said.contains("vegetables"), said);
    }

    @Test
    void aServiceAnswersFromTheCurrentVersion() throws Exception {
        Process server = Programs.start(scratch, SAMPLES.resolve("WordsServer.java").toString(), "words", "0");
        try (BufferedReader said = server.inputReader()) {
            String port = said.readLine().replace("listening on port ", "");
            URI word = URI.create("http://localhost:" + port + "/fr.greeting");
            assertEquals("404 not translated", answer(word));
            try (Space<String, String> words = Scratch.FAST.open(scratch.resolve("words"))) {
                words.load(Map.of("fr.greeting", "Bonjour"));
                assertEquals("200 Bonjour", answer(word));
                words.load(Map.of("fr.greeting", "Salut"));
                assertEquals("200 Salut", answer(word));
            }
        } finally {
            server.destroy();
        }
    }

    private static String answer(URI address) throws Exception {
        HttpResponse<String> response = HttpClient.newHttpClient()
                .send(HttpRequest.newBuilder(address).build(), HttpResponse.BodyHandlers.ofString());
        return response.statusCode() + " " + response.body();
    }
}
