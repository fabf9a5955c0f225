package hammerspace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The bench on small inputs, so that it cannot rot. */
class BenchTest {
    @Test
    void theBenchRunsSmall(@TempDir Path scratch) throws Exception {
        PrintStream out = System.out;
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        try {
            System.setOut(new PrintStream(printed));
            Bench.main(new String[] {scratch.toString(), "--small"});
        } finally {
            System.setOut(out);
        }
        JsonNode rows = new JsonMapper().readTree(printed.toString());
        assertEquals(7, rows.size());
        for (JsonNode row : rows) {
            Set<String> names = new TreeSet<>();
            row.fieldNames().forEachRemaining(names::add);
            assertEquals(Set.of("name", "unit", "ours", "peer", "peer_name", "goal"), names);
            assertTrue(row.get("ours").asDouble() > 0 || row.get("unit").asText().equals("MB"), row::toString);
        }
    }
}
