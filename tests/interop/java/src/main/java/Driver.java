import com.spotify.sparkey.CompressionType;
import com.spotify.sparkey.HashType;
import com.spotify.sparkey.IndexHeader;
import com.spotify.sparkey.LogHeader;
import com.spotify.sparkey.Sparkey;
import com.spotify.sparkey.SparkeyReader;
import com.spotify.sparkey.SparkeyWriter;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.StringJoiner;
import scala.util.hashing.MurmurHash3$;

/**
 * sparkey-java behind a {@link Pipe}; keys and values are hexadecimal.
 *
 * <pre>
 * create FILE none|snappy|zstd BLOCK_SIZE      ok        (a writer is open from here to `close`)
 * append FILE                                  ok
 * put KEY VALUE | delete KEY | close           ok
 * index FILE 4|8                               ok
 * open FILE                                    ok        (a reader is open from here to `shut`)
 * get KEY                                      ok VALUE | absent
 * entries                                      ok KEY VALUE KEY VALUE ...   (live, in log order)
 * header                                       ok NAME=NUMBER ...
 * shut                                         ok
 * shard bytes|strings KEY COUNT                ok SHARD                      (as Scio computes it, by Scala's hash)
 * time FILE KEYS LENGTH                        ok NANOSECONDS SUM            (of getting every key of the file KEYS)
 * </pre>
 */
public final class Driver {
  private static final HexFormat HEX = HexFormat.of();

  private SparkeyWriter writer;
  private SparkeyReader reader;

  public static void main(String[] arguments) throws IOException {
    Pipe.serve(new Driver()::perform);
  }

  private String perform(String[] request) throws IOException {
    switch (request[0]) {
      case "create" -> {
        var compression = CompressionType.valueOf(request[2].toUpperCase());
        writer = Sparkey.createNew(new File(request[1]), compression, Integer.parseInt(request[3]));
      }
      case "append" -> writer = Sparkey.append(new File(request[1]));
      case "put" -> writer.put(HEX.parseHex(request[1]), HEX.parseHex(request[2]));
      case "delete" -> writer.delete(HEX.parseHex(request[1]));
      case "close" -> writer.close();
      case "index" -> {
        var hash = request[2].equals("4") ? HashType.HASH_32_BITS : HashType.HASH_64_BITS;
        Sparkey.writeHash(new File(request[1]), hash);
      }
      case "open" -> reader = Sparkey.open(new File(request[1]));
      case "get" -> {
        byte[] value = reader.getAsByteArray(HEX.parseHex(request[1]));
        return value == null ? "absent" : "ok\t" + HEX.formatHex(value);
      }
      case "entries" -> {
        return entries();
      }
      case "header" -> {
        return header(reader.getLogHeader(), reader.getIndexHeader());
      }
      case "shut" -> closeAside(reader);
      case "shard" -> {
        return "ok\t" + shard(request[1], HEX.parseHex(request[2]), Integer.parseInt(request[3]));
      }
      case "time" -> {
        return time(new File(request[1]), Path.of(request[2]), Integer.parseInt(request[3]));
      }
      default -> throw new IllegalArgumentException("no such request: " + request[0]);
    }
    return "ok";
  }

  private static int shard(String keys, byte[] key, int count) {
    int hash = keys.equals("bytes")
        ? MurmurHash3$.MODULE$.bytesHash(key, 1)
        : MurmurHash3$.MODULE$.stringHash(new String(key, StandardCharsets.UTF_8), 1);
    return Math.floorMod(hash, count);
  }

  /** Gets keys of one length, back to back in a file, and looks at each value: its length, its first and its last byte. */
  private static String time(File file, Path keys, int length) throws IOException {
    byte[] bytes = Files.readAllBytes(keys);
    var each = new byte[bytes.length / length][];
    for (int at = 0; at < each.length; at++) {
      each[at] = Arrays.copyOfRange(bytes, at * length, (at + 1) * length);
    }
    var reader = Sparkey.openSingleThreadedReader(file);
    long sum = 0;
    long started = System.nanoTime();
    for (byte[] key : each) {
      byte[] value = reader.getAsByteArray(key);
      if (value != null && value.length > 0) {
        sum += value.length + (value[0] & 0xff) + (value[value.length - 1] & 0xff);
      }
    }
    long took = System.nanoTime() - started;
    closeAside(reader);
    return "ok\t" + took + "\t" + sum;
  }

  /** Closing waits 100 ms per mapped file for threads that might still read, of which there are none here. */
  private static void closeAside(SparkeyReader reader) {
    var closing = new Thread(reader::close);
    closing.setDaemon(true);
    closing.start();
  }

  private String entries() throws IOException {
    var words = new StringJoiner("\t").add("ok");
    for (SparkeyReader.Entry entry : reader) {
      words.add(HEX.formatHex(entry.getKey())).add(HEX.formatHex(entry.getValue()));
    }
    return words.toString();
  }

  private static String header(LogHeader log, IndexHeader index) {
    return new StringJoiner("\t")
        .add("ok")
        .add("num_puts=" + log.getNumPuts())
        .add("num_deletes=" + log.getNumDeletes())
        .add("put_size=" + log.getPutSize())
        .add("delete_size=" + log.getDeleteSize())
        .add("max_key_len=" + log.getMaxKeyLen())
        .add("max_value_len=" + log.getMaxValueLen())
        .add("compression_type=" + log.getCompressionType().ordinal())
        .add("num_entries=" + index.getNumEntries())
        .add("hash_size=" + index.getHashSize())
        .toString();
  }
}
