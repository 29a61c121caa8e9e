import type { Router } from '@koa/router';
import { z } from 'zod';
import { isUid } from '../../../pipelines/dicom/uid.ts';
import { sees } from '../../core/accounts/roles.ts';
import type { Queryable } from '../../platform/database/port.ts';
import { SonogateError } from '../../platform/errors/catalogue.ts';
import { InvalidInputError } from '../../platform/errors/problem.ts';
import { readQuery } from '../http/parse.ts';
import { auditStudies } from './audit.ts';
import type { ConsoleDeps, ConsoleState } from './context.ts';
import type { InvokedDisplay } from './contract.ts';
import { needs } from './guard.ts';

/** Maximum number of studies listed for one patient or accession number. */
const MOST_STUDIES = 50;

const text = z.string().trim().min(1).max(200);

/**
 * Parameters of Invoke Image Display (IHE RAD TF-2, RAD-106). Other parameters, such as
 * `viewerType` and `mostRecentResults`, are hints and are ignored.
 */
const displayQuery = z.object({
  requestType: z.enum(['STUDY', 'PATIENT']),
  studyUID: text.refine(isUid, 'one Study Instance UID').optional(),
  accessionNumber: text.optional(),
  patientID: text.optional(),
});

interface Named {
  StudyInstanceUID?: string;
  AccessionNumber?: string;
  PatientID?: string;
  /** The patient ID issuer's namespace and universal ID, if the request contains them. */
  issuers?: string[];
}

function namedBy({
  requestType,
  studyUID,
  accessionNumber,
  patientID,
}: z.infer<typeof displayQuery>): Named {
  if (requestType === 'PATIENT' && patientID !== undefined) {
    // HL7 v2 CX: the identifier, and the assigning authority as namespace & universal ID & type.
    const [id = '', , , authority = ''] = patientID.split('^');
    const issuers = authority.split('&').slice(0, 2).filter(Boolean);
    return { PatientID: id, ...(issuers.length > 0 && { issuers }) };
  }
  if (requestType === 'STUDY' && studyUID !== undefined) return { StudyInstanceUID: studyUID };
  if (requestType === 'STUDY' && accessionNumber !== undefined) {
    return { AccessionNumber: accessionNumber };
  }
  const missing = requestType === 'PATIENT' ? 'patientID' : 'studyUID';
  throw new InvalidInputError([{ pointer: `/${missing}`, detail: 'is missing' }]);
}

/**
 * Adds `GET /display`, which lists the studies that an Invoke Image Display request asks for. Only
 * roles that see identity may use it: any other role could learn the pseudonym of a patient whose
 * ID it knows.
 */
export function addDisplayRoutes(router: Router<ConsoleState>, deps: ConsoleDeps): void {
  const { database, config } = deps;
  if (!config.console.invokeImageDisplay) return;
  router.get('/display', needs('read'), async (context) => {
    if (sees(context.state.session.role) !== 'identity') {
      throw new SonogateError(
        'forbidden',
        "Your role does not permit you to see the patient's identity.",
      );
    }
    const studies = await studiesOf(database, namedBy(readQuery(context, displayQuery)));
    const studyIds = studies.map(({ key }) => key);
    await auditStudies(context, studyIds, 'display', deps);
    if (studies.length === 0) throw new SonogateError('not_found', 'There is no such study here.');
    context.body = { studies } satisfies InvokedDisplay;
  });
}

/**
 * Finds the requested studies. If both the request and a study state the issuer of the patient ID,
 * the issuers must agree, because another hospital may have given the same ID to another person.
 */
async function studiesOf(database: Queryable, named: Named): Promise<InvokedDisplay['studies']> {
  const { rows } = await database.query<InvokedDisplay['studies'][number]>(
    `SELECT id AS key, coalesce(identity ->> 'StudyDate', '') AS "studyDate",
       coalesce(identity ->> 'StudyDescription', '') AS description
     FROM studies
     WHERE ($1::text IS NULL OR study_instance_uid = $1)
       AND ($2::text IS NULL OR identity ->> 'AccessionNumber' = $2)
       AND ($3::text IS NULL OR identity ->> 'PatientID' = $3)
       AND ($4::text[] IS NULL
         OR (coalesce(identity ->> 'IssuerOfPatientID', '') = ''
           AND identity #>> '{IssuerOfPatientIDQualifiers,UniversalEntityID}' IS NULL)
         OR identity ->> 'IssuerOfPatientID' = ANY ($4)
         OR identity #>> '{IssuerOfPatientIDQualifiers,UniversalEntityID}' = ANY ($4))
     ORDER BY identity ->> 'StudyDate' DESC, first_received_at DESC LIMIT ${MOST_STUDIES}`,
    [
      named.StudyInstanceUID ?? null,
      named.AccessionNumber ?? null,
      named.PatientID ?? null,
      named.issuers ?? null,
    ],
  );
  return rows;
}
