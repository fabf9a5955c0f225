import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import hammerspace.HammerspaceException;
import hammerspace.Space;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.Executors;

/**
 * Serves the words of a space over HTTP, always those of the current version: {@code java -cp hammerspace.jar WordsServer.java words
 * 8080}, then {@code curl localhost:8080/fr.greeting}.
 */
class WordsServer {
    private final Space<String, String> words;

    WordsServer(Space<String, String> words) {
        this.words = words;
    }

    public static void main(String[] arguments) throws IOException {
        WordsServer server = new WordsServer(Space.create(Path.of(arguments[0])));
        InetAddress local = InetAddress.getLoopbackAddress();
        HttpServer http = HttpServer.create(new InetSocketAddress(local, Integer.parseInt(arguments[1])), 0);
        http.setExecutor(Executors.newFixedThreadPool(8));
        http.createContext("/", server::answer);
        http.start();
        System.out.println("listening on port " + http.getAddress().getPort());
    }

    private void answer(HttpExchange exchange) throws IOException {
        refresh();
        String word = words.get(exchange.getRequestURI().getPath().substring(1));
        byte[] body = (word == null ? "not translated" : word).getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(word == null ? 404 : 200, body.length);
        exchange.getResponseBody().write(body);
        exchange.close();
    }

    /** Once per request. If the version that was published is damaged, requests are served from the one before. */
    private void refresh() {
        try {
            words.refresh();
        } catch (HammerspaceException damaged) {
            System.err.println(damaged.getMessage());
        }
    }
}
