import type { NaturalDataset } from 'dcmjs';
import type { DicomWorklistSettings, FhirWorklistSettings } from '../../config/peers.ts';
import type { Config } from '../../config/schema.ts';
import { LONGEST_INDICATION } from '../../pipelines/contract/job.ts';
import { itemsOf } from '../../pipelines/dicom/data-set.ts';
import { MODALITY_WORKLIST_FIND } from '../../pipelines/dicom/sop-classes.ts';
import { attributeText } from '../../src/core/studies/instance-header.ts';
import type { FoundOrder, OrderKeys, Worklist } from '../../src/core/studies/order.ts';
import type { ClientCertificates } from '../../src/platform/tls/client-files.ts';
import { findMatches, openAssociation, queryContext } from '../archive/query.ts';
import { type CalledNode, clientTls } from '../network/dial.ts';

/**
 * Maximum number of entries read for one study. No accession number or patient has this many
 * procedures and steps.
 */
const MAX_ENTRIES = 200;

/** Return keys (PS3.4 table K.6-1); '' matches any value. */
const RETURN_KEYS = [
  'AccessionNumber',
  'ReferringPhysicianName',
  'PatientName',
  'PatientID',
  'IssuerOfPatientID',
  'PatientBirthDate',
  'PatientSex',
  'PatientSize',
  'PatientWeight',
  'PregnancyStatus',
  'LastMenstrualDate',
  'StudyInstanceUID',
  'RequestedProcedureDescription',
  'RequestedProcedureID',
  'ReasonForTheRequestedProcedure',
  'PlacerOrderNumberImagingServiceRequest',
] as const;

const CODE_KEYS = ['CodeValue', 'CodingSchemeDesignator', 'CodeMeaning'] as const;
const CODE_SEQUENCES = [
  'RequestedProcedureCodeSequence',
  'ReasonForRequestedProcedureCodeSequence',
] as const;
const STEP_KEYS = [
  'Modality',
  'ScheduledStationAETitle',
  'ScheduledProcedureStepStartDate',
  'ScheduledProcedureStepStartTime',
  'ScheduledProcedureStepID',
] as const;

const KEPT = [...RETURN_KEYS, ...CODE_SEQUENCES, 'CodeMeaning'] as const;

const anyValue = (keywords: readonly string[]): NaturalDataset =>
  Object.fromEntries(keywords.map((keyword) => [keyword, '']));

/** Returns the identifier of the query (PS3.4 K.4.1.1.3). */
function identifierFor(keys: OrderKeys): NaturalDataset {
  return {
    ...anyValue(RETURN_KEYS),
    ...Object.fromEntries(CODE_SEQUENCES.map((name) => [name, [anyValue(CODE_KEYS)]])),
    ScheduledProcedureStepSequence: [anyValue(STEP_KEYS)],
    ...('accessionNumber' in keys
      ? { AccessionNumber: keys.accessionNumber }
      : { PatientID: keys.patientId, StudyInstanceUID: keys.studyInstanceUid }),
  };
}

function orderOfEntry(entry: NaturalDataset): FoundOrder {
  const text = (keyword: (typeof KEPT)[number]) => attributeText(entry[keyword]);
  const date = (keyword: 'PatientBirthDate' | 'LastMenstrualDate') =>
    text(keyword).replaceAll('.', '');
  const meaning = (sequence: (typeof CODE_SEQUENCES)[number]) =>
    itemsOf(entry[sequence])
      .map(({ CodeMeaning }) => attributeText(CodeMeaning))
      .filter(Boolean)
      .join(', ');
  const number = (keyword: 'PatientSize' | 'PatientWeight' | 'PregnancyStatus') => {
    const value = Number(text(keyword) || Number.NaN);
    return Number.isFinite(value) ? value : null;
  };
  const indication =
    text('ReasonForTheRequestedProcedure') || meaning('ReasonForRequestedProcedureCodeSequence');
  return {
    patient: {
      patientId: text('PatientID'),
      issuerOfPatientId: text('IssuerOfPatientID'),
      birthDate: date('PatientBirthDate'),
      sex: text('PatientSex'),
    },
    studyInstanceUid: text('StudyInstanceUID'),
    accessionNumber: text('AccessionNumber'),
    placerOrderNumber: text('PlacerOrderNumberImagingServiceRequest'),
    requestedProcedureId: text('RequestedProcedureID'),
    requestedProcedure:
      text('RequestedProcedureDescription') || meaning('RequestedProcedureCodeSequence'),
    indication: indication.slice(0, LONGEST_INDICATION),
    referringPhysicianName: text('ReferringPhysicianName'),
    sex: text('PatientSex'),
    lastMenstrualDate: date('LastMenstrualDate'),
    pregnancyStatus: number('PregnancyStatus'),
    patientSizeMetres: number('PatientSize'),
    patientWeightKilograms: number('PatientWeight'),
  };
}

/** Creates a worklist queried by C-FIND (PS3.4 K). Each query opens an association. */
export function modalityWorklist(
  settings: DicomWorklistSettings,
  dicom: Pick<Config['dicom'], 'aeTitle'>,
  certificates: ClientCertificates,
): Worklist {
  const { name, host, port, aeTitle, callingAeTitle = dicom.aeTitle, timeoutSeconds } = settings;
  const tls = clientTls(settings.tls, certificates);
  const node: CalledNode = { host, port, aeTitle, callingAeTitle, timeoutSeconds, tls };
  return {
    name,
    async orders(keys, signal) {
      const association = await openAssociation(node, [queryContext(1, MODALITY_WORKLIST_FIND)], {
        signal,
      });
      try {
        const entries = await findMatches(
          association,
          { sopClassUid: MODALITY_WORKLIST_FIND, identifier: identifierFor(keys), returned: KEPT },
          { limit: MAX_ENTRIES, signal },
        );
        return entries.map(orderOfEntry);
      } finally {
        await association.release();
      }
    },
  };
}

export type OpenFhirWorklist = (
  settings: FhirWorklistSettings,
  certificates: ClientCertificates,
) => Worklist;

/** Opens the configured worklists. No connection is made before the first query. */
export function openWorklists(
  { orders, dicom }: Pick<Config, 'orders' | 'dicom'>,
  certificates: ClientCertificates,
  openFhir?: OpenFhirWorklist,
): Worklist[] {
  return orders.worklists.map((settings) => {
    if (settings.type === 'dicom') return modalityWorklist(settings, dicom, certificates);
    if (!openFhir) throw new Error('a FHIR worklist needs credentials');
    return openFhir(settings, certificates);
  });
}
