import type { DiagnosticReport, Identifier } from '@medplum/fhirtypes';
import { resultIdentifier, searchToken } from './identifiers.ts';
import { FhirFailure, failureOf } from './outcome.ts';
import type { FhirServer } from './server.ts';

/** Statuses that a draft may replace; any other was set by a person. */
const REPLACEABLE: ReadonlySet<DiagnosticReport['status']> = new Set([
  'registered',
  'partial',
  'preliminary',
]);

/** A result, as far as its place among those of the same study. */
export interface StudyResult {
  resultSystem: string;
  requestId: string;
  /** Earlier requests of the same study and endpoint, newest first. */
  earlier: readonly string[];
  /** `generated_at` of the result, ISO 8601. */
  generatedAt: string;
}

/** The draft of a study that the receiver has. */
export interface Draft {
  report: DiagnosticReport;
  /** Request whose id names the report and its parts: the first run that arrived. */
  key: string;
  /** Every request whose result the report has had or stands for. */
  requests: readonly string[];
}

/**
 * The one report of a study at the receiver: the draft to be replaced, `newer` when that of a later
 * run is there, null for none.
 * @throws FhirFailure `ehr_already_verified` when a person has verified, amended or retracted it.
 */
export async function existingReport(
  server: Pick<FhirServer, 'search'>,
  { resultSystem, requestId, earlier, generatedAt }: StudyResult,
  signal: AbortSignal,
): Promise<Draft | 'newer' | null> {
  for (const id of [requestId, ...earlier]) {
    const identifier = resultIdentifier(resultSystem, id);
    const answer = await server.search(
      'DiagnosticReport',
      { identifier: searchToken(identifier), _count: '2' },
      signal,
    );
    const reports = answer.filter((report) =>
      ours(report, resultSystem).some(({ value }) => value === id),
    );
    const verified = reports.find((report) => !REPLACEABLE.has(report.status));
    if (verified) {
      throw new FhirFailure(
        failureOf('ehr_already_verified', `The report has status "${verified.status}"`),
      );
    }
    const [report] = reports;
    if (!report) continue;
    if (Date.parse(report.issued ?? '') > Date.parse(generatedAt)) return 'newer';
    const identifiers = ours(report, resultSystem);
    const official = identifiers.find(({ use }) => use === 'official') ?? identifiers[0];
    return {
      report,
      key: official?.value ?? id,
      requests: identifiers.flatMap(({ value }) => value ?? []),
    };
  }
  return null;
}

function ours({ identifier = [] }: DiagnosticReport, resultSystem: string): Identifier[] {
  return identifier.filter(({ system }) => system === resultSystem);
}
