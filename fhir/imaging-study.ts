import type { ImagingStudy, ImagingStudySeries } from '@medplum/fhirtypes';
import type { DicomIdentity, SourceInstance } from '../pipelines/artifacts/subject.ts';
import { SYSTEMS, ULTRASOUND_MODALITY } from './codes.ts';
import { fhirDateTime } from './dates.ts';
import { accessionNumber, dicomUidIdentifier } from './identifiers.ts';
import type { ReportContext } from './report-context.ts';

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
    modality: [ULTRASOUND_MODALITY],
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

function seriesOf(instances: readonly SourceInstance[]): ImagingStudySeries[] {
  const bySeries = Map.groupBy(instances, (instance) => instance.seriesInstanceUid);
  return [...bySeries].map(([uid, members]) => ({
    uid,
    modality: ULTRASOUND_MODALITY,
    numberOfInstances: members.length,
    instance: members.map(({ sopInstanceUid, sopClassUid }) => ({
      uid: sopInstanceUid,
      sopClass: { system: SYSTEMS.uri, code: `urn:oid:${sopClassUid}` },
    })),
  }));
}
