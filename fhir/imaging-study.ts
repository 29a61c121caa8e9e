import type { ImagingStudy, ImagingStudySeries } from '@medplum/fhirtypes';
import type { DicomIdentity, SourceInstance } from '../pipelines/artifacts/subject.ts';
import { modalityCoding, SYSTEMS } from './codes.ts';
import { fhirDateTime } from './dates.ts';
import { accessionNumber, dicomUidIdentifier } from './identifiers.ts';
import type { ReportContext } from './report-context.ts';

/** Where the source does not say: all that we read is ultrasound. */
const ULTRASOUND = 'US';

/**
 * The study as far as its images reached us. It is created only when the receiver has none: the
 * owner's copy is never overwritten, and our own series are not added to it.
 */
export function buildImagingStudy(context: ReportContext, identity: DicomIdentity): ImagingStudy {
  const accession = identity.AccessionNumber.trim();
  return {
    resourceType: 'ImagingStudy',
    identifier: [
      dicomUidIdentifier(identity.StudyInstanceUID),
      ...(accession ? [accessionNumber(accession)] : []),
    ],
    status: 'available',
    modality: acquired(context.subject.instances).map(modalityCoding),
    subject: context.patient,
    encounter: context.encounter,
    started: fhirDateTime(
      `${identity.StudyDate.trim()}${identity.StudyTime.trim()}`,
      identity.TimezoneOffsetFromUTC,
    ),
    basedOn: context.order ? [context.order] : undefined,
    description: identity.StudyDescription.trim() || undefined,
    series: seriesOf(context.subject.instances),
  };
}

/** "All the series.modality values that are actual acquisition modalities" (FHIR R4). */
function acquired(instances: readonly SourceInstance[]): string[] {
  const images = instances.filter(({ rows }) => rows > 0).map(modalityOf);
  return images.length > 0 ? [...new Set(images)] : [ULTRASOUND];
}

const modalityOf = ({ modality }: SourceInstance): string => modality || ULTRASOUND;

function seriesOf(instances: readonly SourceInstance[]): ImagingStudySeries[] {
  const bySeries = Map.groupBy(instances, (instance) => instance.seriesInstanceUid);
  return Array.from(bySeries, ([uid, members]) => ({
    uid,
    // A series has one modality (PS3.3 C.7.3.1).
    modality: modalityCoding(members.map(modalityOf)[0] ?? ULTRASOUND),
    numberOfInstances: members.length,
    instance: members.map(({ sopInstanceUid, sopClassUid }) => ({
      uid: sopInstanceUid,
      sopClass: { system: SYSTEMS.uri, code: `urn:oid:${sopClassUid}` },
    })),
  }));
}
