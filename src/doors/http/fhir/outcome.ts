import type { OperationOutcome } from '@medplum/fhirtypes';
import type { Problem } from '../../../platform/errors/problem.ts';

/** Where the FHIR face is. */
export const FHIR = '/fhir';
export const FHIR_JSON = 'application/fhir+json; fhirVersion=4.0';

type IssueCode = NonNullable<OperationOutcome['issue']>[number]['code'];

/** HTTP status → code of the value set issue-type (R4). */
const ISSUE: Readonly<Record<number, IssueCode>> = {
  401: 'login',
  403: 'forbidden',
  404: 'not-found',
  405: 'not-supported',
  410: 'not-found',
  422: 'invalid',
  429: 'throttled',
  503: 'transient',
};

/** A problem in the words of FHIR. */
export function operationOutcome({ status, code, title, detail }: Problem): OperationOutcome {
  return {
    resourceType: 'OperationOutcome',
    issue: [
      {
        severity: 'error',
        code: ISSUE[status] ?? (status < 500 ? 'invalid' : 'exception'),
        details: { text: title },
        diagnostics: detail ? `${code}: ${detail}` : code,
      },
    ],
  };
}
