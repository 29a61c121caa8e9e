import ca.uhn.hl7v2.AcknowledgmentCode;
import ca.uhn.hl7v2.DefaultHapiContext;
import ca.uhn.hl7v2.ErrorCode;
import ca.uhn.hl7v2.HL7Exception;
import ca.uhn.hl7v2.llp.MinLowerLayerProtocol;
import ca.uhn.hl7v2.model.Message;
import ca.uhn.hl7v2.model.Varies;
import ca.uhn.hl7v2.model.v251.datatype.ED;
import ca.uhn.hl7v2.model.v251.message.ORU_R01;
import ca.uhn.hl7v2.protocol.ReceivingApplication;
import ca.uhn.hl7v2.protocol.ReceivingApplicationException;
import ca.uhn.hl7v2.util.Terser;
import ca.uhn.hl7v2.util.idgenerator.InMemoryIDGenerator;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Map;

/**
 * Receives ORU^R01 over MLLP with HAPI's server and its typed structures, and prints each value that it
 * read as a line `name=value`, followed by a line `end`. MSH-6 determines the acknowledgment: AE, AE207,
 * AR or AR200; with any other value the message is accepted.
 */
public class Receiver implements ReceivingApplication<Message> {
  public static void main(String[] arguments) throws Exception {
    System.setOut(new PrintStream(System.out, true, StandardCharsets.UTF_8));
    var context = new DefaultHapiContext();
    // By default, HAPI keeps the last control ID of its responses in a file in the working folder.
    context.getParserConfiguration().setIdGenerator(new InMemoryIDGenerator());
    // Decodes with the character set in MSH-18 rather than the machine's.
    context.setLowerLayerProtocol(new MinLowerLayerProtocol(true));
    var tls = arguments.length > 1;
    var server = context.newServer(Integer.parseInt(arguments[0]), tls);
    server.registerApplication("ORU", "R01", new Receiver());
    server.startAndWait();
    System.out.println("listening");
    System.in.read();
    server.stop();
    System.exit(0);
  }

  @Override
  public boolean canProcess(Message message) {
    return message instanceof ORU_R01;
  }

  @Override
  public Message processMessage(Message message, Map<String, Object> metadata)
      throws ReceivingApplicationException, HL7Exception {
    try {
      print((ORU_R01) message);
      var terser = new Terser(message);
      switch (String.valueOf(terser.get("/MSH-6"))) {
        case "AE":
          return message.generateACK(AcknowledgmentCode.AE, new HL7Exception("a missing field", ErrorCode.REQUIRED_FIELD_MISSING));
        case "AE207":
          return message.generateACK(AcknowledgmentCode.AE, new HL7Exception("the database is away", ErrorCode.APPLICATION_INTERNAL_ERROR));
        case "AR":
          return message.generateACK(AcknowledgmentCode.AR, new HL7Exception("the queue is full", ErrorCode.APPLICATION_INTERNAL_ERROR));
        case "AR200":
          return message.generateACK(AcknowledgmentCode.AR, new HL7Exception("not here", ErrorCode.UNSUPPORTED_MESSAGE_TYPE));
        default:
          return message.generateACK();
      }
    } catch (java.io.IOException cause) {
      throw new HL7Exception(cause);
    }
  }

  private static void print(ORU_R01 message) throws HL7Exception {
    var terser = new Terser(message);
    for (var path : new String[] {"/MSH-9-3", "/MSH-10", "/MSH-12", "/MSH-18", "/.PID-3-1", "/.PID-3-4-1", "/.PID-5-1", "/.PID-5-2", "/.PID-7", "/.PID-8", "/.OBR-4-1", "/.OBR-18", "/.OBR-25"}) {
      say(path.replaceAll("^/\\.?", ""), terser.get(path));
    }
    var order = message.getPATIENT_RESULT().getORDER_OBSERVATION();
    for (var observation : order.getOBSERVATIONAll()) {
      var obx = observation.getOBX();
      var code = obx.getObservationIdentifier().getIdentifier().getValue();
      var value = new StringBuilder();
      for (Varies one : obx.getObservationValue()) {
        if (value.length() > 0) value.append(" / ");
        if (one.getData() instanceof ED data) {
          var bytes = Base64.getDecoder().decode(data.getData().getValue());
          value.append(data.getDataSubtype().getValue()).append(' ').append(bytes.length).append(' ').append(new String(bytes, 0, 5));
        } else {
          value.append(one.getData().encode());
        }
      }
      var units = obx.getUnits().getIdentifier().getValue();
      say("OBX", String.join("|", obx.getValueType().getValue(), code, String.valueOf(obx.getObservationSubID().getValue()),
          value, String.valueOf(units), obx.getObservationResultStatus().getValue()));
    }
    System.out.println("end");
  }

  private static void say(String name, String value) {
    System.out.println(name + "=" + (value == null ? "" : value.replace("\n", " ").replace("\r", " ")));
  }
}
