import ca.uhn.fhir.context.FhirContext;
import ca.uhn.fhir.rest.client.interceptor.BearerTokenAuthInterceptor;
import ca.uhn.fhir.rest.server.exceptions.BaseServerResponseException;
import org.hl7.fhir.r4.model.Bundle;
import org.hl7.fhir.r4.model.CapabilityStatement;
import org.hl7.fhir.r4.model.OperationOutcome;
import org.hl7.fhir.r4.model.Task;

/**
 * Uses HAPI's client with a gateway's FHIR API: reads the CapabilityStatement, pages through the
 * Tasks in one state, reads one of them, and requests one that does not exist. Prints one fact per
 * line. Arguments: address, key, id of a Task.
 */
public class FhirClient {
  public static void main(String[] given) {
    var context = FhirContext.forR4();
    // Fetches /metadata before the first call and refuses a server of another FHIR version.
    var client = context.newRestfulGenericClient(given[0]);
    client.registerInterceptor(new BearerTokenAuthInterceptor(given[1]));

    var statement = client.capabilities().ofType(CapabilityStatement.class).execute();
    System.out.println("version\t" + statement.getFhirVersion().toCode());

    var page = client.search().forResource(Task.class)
        .where(Task.STATUS.exactly().systemAndCode("http://hl7.org/fhir/task-status", "accepted"))
        .count(2).returnBundle(Bundle.class).execute();
    while (true) {
      for (var entry : page.getEntry()) System.out.println("found\t" + entry.getResource().getIdElement().getIdPart());
      if (page.getLink(Bundle.LINK_NEXT) == null) break;
      page = client.loadPage().next(page).execute();
    }

    var task = client.read().resource(Task.class).withId(given[2]).execute();
    System.out.println("read\t" + task.getStatus().toCode() + "\t" + task.getIdentifierFirstRep().getValue());

    try {
      client.read().resource(Task.class).withId("req-00000000000000000000000000").execute();
    } catch (BaseServerResponseException refusal) {
      var issue = ((OperationOutcome) refusal.getOperationOutcome()).getIssueFirstRep();
      System.out.println("refused\t" + refusal.getStatusCode() + "\t" + issue.getCode().toCode());
    }
  }
}
