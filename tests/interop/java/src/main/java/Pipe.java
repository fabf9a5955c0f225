import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/**
 * One request a line on standard input, one answer a line on standard output, so that one JVM serves all cases of a test.
 * Words are separated by tabs. What throws is answered by `error` and the exception.
 */
interface Pipe {
  /** The answer to one request: `ok` and words, or `absent`. */
  String perform(String[] request) throws IOException;

  /** Answers until there are no more requests. */
  static void serve(Pipe pipe) throws IOException {
    var requests = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    var answers = new PrintStream(System.out, false, StandardCharsets.UTF_8);
    for (String line = requests.readLine(); line != null; line = requests.readLine()) {
      answers.print(answer(pipe, line.split("\t", -1)));
      answers.print('\n');
      answers.flush();
    }
  }

  private static String answer(Pipe pipe, String[] request) {
    try {
      return pipe.perform(request);
    } catch (IOException | RuntimeException exception) {
      return "error\t" + exception.toString().replaceAll("\\s+", " ");
    }
  }
}
