import ca.uhn.fhir.context.FhirContext;
import ca.uhn.fhir.context.support.DefaultProfileValidationSupport;
import ca.uhn.fhir.validation.ResultSeverityEnum;
import java.nio.file.Files;
import java.nio.file.Path;
import org.hl7.fhir.common.hapi.validation.support.CommonCodeSystemsTerminologyService;
import org.hl7.fhir.common.hapi.validation.support.InMemoryTerminologyServerValidationSupport;
import org.hl7.fhir.common.hapi.validation.support.ValidationSupportChain;
import org.hl7.fhir.common.hapi.validation.validator.FhirInstanceValidator;

/**
 * Prints the errors that HAPI's FhirInstanceValidator finds with its default support for R4, one per
 * line, and the number of issues of any severity in each file.
 */
public class FhirValidate {
  public static void main(String[] files) throws Exception {
    var context = FhirContext.forR4();
    var support = new ValidationSupportChain(
        new DefaultProfileValidationSupport(context),
        new InMemoryTerminologyServerValidationSupport(context),
        new CommonCodeSystemsTerminologyService(context));
    var validator = context.newValidator();
    validator.registerValidatorModule(new FhirInstanceValidator(support));
    for (var file : files) {
      var issues = validator.validateWithResult(Files.readString(Path.of(file))).getMessages();
      for (var issue : issues) {
        if (issue.getSeverity().compareTo(ResultSeverityEnum.ERROR) < 0) continue;
        System.out.println("error\t" + issue.getLocationString() + "\t" + issue.getMessage().replaceAll("\\s+", " "));
      }
      System.out.println("validated\t" + file + "\t" + issues.size());
    }
  }
}
