import hammerspace.Codec;
import hammerspace.MissingException;
import hammerspace.Space;
import hammerspace.Writer;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;

/** Publishes two versions of a space, and reads them: {@code java --module-path hammerspace.jar --add-modules hammerspace Publish.java}. */
class Publish {
    public static void main(String[] arguments) {
        Path path = Path.of("fruits");
        try (Space<String, String> fruits = Space.create(path);
                Space<String, String> reader = Space.open(path)) {
            try (Writer<String, String> writer = fruits.writer()) {
                writer.put("apple", "red");
                writer.put("lemon", "yellow");
                System.out.println("published version " + writer.publish());
            }
            check(reader.refresh() && reader.asMap().keySet().equals(java.util.Set.of("apple", "lemon")));

            ByteBuffer shared = reader.view("apple");
            try (Writer<String, String> writer = fruits.writer()) {
                writer.put("apple", "green");
                writer.delete("lemon");
                System.out.println("published version " + writer.publish());
            }
            check(reader.get("apple").equals("red"));
            check(reader.refresh() && reader.getMany(List.of("apple", "lemon")).get(0).equals("green"));
            check(Codec.TEXT.decode(Codec.BUFFER.encode(shared)).equals("red"));
        }
        try {
            Space.open(Path.of("vegetables"));
        } catch (MissingException missing) {
            System.out.println(missing.getMessage());
        }
    }

    private static void check(boolean fine) {
        if (!fine) {
            throw new AssertionError("the sample is wrong");
        }
    }
}
