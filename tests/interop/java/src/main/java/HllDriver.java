import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import net.agkn.hll.HLL;
import net.agkn.hll.HLLType;

/**
 * java-hll behind a {@link Pipe}. Values are hexadecimal, hashes decimal and separated by commas; CUTOFF is 0 for no list, k
 * for one of 2^(k-1) hashes, -1 for an automatic one.
 *
 * <pre>
 * count LOG2M REGWIDTH CUTOFF true|false HASHES   ok VALUE CARDINALITY
 * union VALUE VALUE                               ok VALUE CARDINALITY
 * time bytes|decoded FILE LENGTH                  ok NANOSECONDS CARDINALITY   (of uniting all values of a file)
 * estimate VALUE COUNT                            ok NANOSECONDS CARDINALITY   (of so many estimates)
 * </pre>
 */
public final class HllDriver {
  private static final HexFormat HEX = HexFormat.of();

  private HllDriver() {}

  public static void main(String[] arguments) throws IOException {
    Pipe.serve(HllDriver::perform);
  }

  private static String perform(String[] request) throws IOException {
    return switch (request[0]) {
      case "count" -> shown(count(request));
      case "union" -> {
        var union = read(request[1]);
        union.union(read(request[2]));
        yield shown(union);
      }
      case "time" -> time(request[1].equals("decoded"), values(Path.of(request[2]), Integer.parseInt(request[3])));
      case "estimate" -> estimate(HEX.parseHex(request[1]), Integer.parseInt(request[2]));
      default -> throw new IllegalArgumentException("no such request: " + request[0]);
    };
  }

  private static HLL count(String[] request) {
    var hll = new HLL(
        Integer.parseInt(request[1]),
        Integer.parseInt(request[2]),
        Integer.parseInt(request[3]),
        Boolean.parseBoolean(request[4]),
        HLLType.EMPTY);
    for (String hash : request[5].split(",")) {
      if (!hash.isEmpty()) {
        hll.addRaw(Long.parseLong(hash));
      }
    }
    return hll;
  }

  private static HLL read(String value) {
    return HLL.fromBytes(HEX.parseHex(value));
  }

  private static String shown(HLL hll) {
    return "ok\t" + HEX.formatHex(hll.toBytes()) + "\t" + hll.cardinality();
  }

  /** Values of one length, back to back in a file. */
  private static byte[][] values(Path file, int length) throws IOException {
    byte[] bytes = Files.readAllBytes(file);
    var values = new byte[bytes.length / length][];
    for (int at = 0; at < values.length; at++) {
      values[at] = Arrays.copyOfRange(bytes, at * length, (at + 1) * length);
    }
    return values;
  }

  private static String time(boolean decoded, byte[][] values) {
    return decoded ? timeDecoded(values) : timeBytes(values);
  }

  private static String timeBytes(byte[][] values) {
    long started = System.nanoTime();
    var union = HLL.fromBytes(values[0]);
    for (byte[] value : values) {
      union.union(HLL.fromBytes(value));
    }
    return "ok\t" + (System.nanoTime() - started) + "\t" + union.cardinality();
  }

  private static String timeDecoded(byte[][] values) {
    var decoded = new ArrayList<HLL>(values.length);
    for (byte[] value : values) {
      decoded.add(HLL.fromBytes(value));
    }
    var union = HLL.fromBytes(values[0]);
    long started = System.nanoTime();
    for (HLL value : decoded) {
      union.union(value);
    }
    return "ok\t" + (System.nanoTime() - started) + "\t" + union.cardinality();
  }

  private static String estimate(byte[] value, int count) {
    var hll = HLL.fromBytes(value);
    long sum = 0;
    long started = System.nanoTime();
    for (int at = 0; at < count; at++) {
      sum += hll.cardinality();
    }
    return "ok\t" + (System.nanoTime() - started) + "\t" + sum / count;
  }
}
