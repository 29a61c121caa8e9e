import ca.uhn.hl7v2.DefaultHapiContext;
import ca.uhn.hl7v2.llp.MinLowerLayerProtocol;
import ca.uhn.hl7v2.util.Terser;
import ca.uhn.hl7v2.util.idgenerator.InMemoryIDGenerator;
import ca.uhn.hl7v2.validation.impl.ValidationContextFactory;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/**
 * Sends messages with HAPI's client. Each input line is one message, with `~~` between its segments.
 * HAPI parses and re-encodes it, and parses the response, whose MSA-1, MSA-2 and ERR-3 are printed on
 * one line.
 */
public class Sender {
  public static void main(String[] arguments) throws Exception {
    var out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    var context = new DefaultHapiContext();
    context.getParserConfiguration().setIdGenerator(new InMemoryIDGenerator());
    context.setLowerLayerProtocol(new MinLowerLayerProtocol(true));
    context.setValidationContext(ValidationContextFactory.noValidation());
    var connection = context.newClient("127.0.0.1", Integer.parseInt(arguments[0]), false);
    connection.getInitiator().setTimeoutMillis(60_000);
    var lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (var line = lines.readLine(); line != null; line = lines.readLine()) {
      var message = context.getPipeParser().parse(line.replace("~~", "\r"));
      var answer = new Terser(connection.getInitiator().sendAndReceive(message));
      var error = answer.getSegment("/.MSA").getMessage().toString().contains("\rERR|") ? answer.get("/.ERR-3-1") : "";
      out.println(answer.get("/.MSA-1") + " " + answer.get("/.MSA-2") + " " + error);
    }
    connection.close();
    System.exit(0);
  }
}
