import { createHash } from 'node:crypto';
import type { Device, Identifier, ImagingStudy, ImagingStudySeries } from '@medplum/fhirtypes';
import { MANUFACTURER } from '../../pipelines/dicom/implementation.ts';
import type { DicomIdentity, SourceInstance } from '../../pipelines/dicom/subject.ts';
import { modalityCoding, SOFTWARE, SYSTEMS } from './codes.ts';
import { fhirDateTime } from './dates.ts';
import { accessionNumber, dicomUidIdentifier, resultIdentifier } from './identifiers.ts';
import type { ReportContext } from './report-context.ts';

/** Modality of an object without one: the gateway interprets only ultrasound. */
const ULTRASOUND = 'US';

/**
 * Builds the study from the images that have arrived. It is created only if the receiver does not
 * have the study. An existing study belongs to another system: it is not overwritten, and our own
 * series are not added to it.
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

/** Returns "all the series.modality values that are actual acquisition modalities" (FHIR R4). */
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

/**
 * Builds the Device for the software that made the measurements. There is one Device per pipeline
 * version and set of weights, shared by all reports and never updated, so the weights are part of
 * its identifier (SemVer build metadata).
 */
export function buildDevice(context: ReportContext): Device {
  const { result } = context;
  return {
    resourceType: 'Device',
    identifier: [deviceIdentifier(context)],
    status: 'active',
    // The manufacturer is the maker of the software. The organization that runs it is the custodian
    // in the Provenance.
    manufacturer: MANUFACTURER,
    deviceName: [{ name: `Sonogate ${result.endpoint}`, type: 'model-name' }],
    modelNumber: result.version,
    type: SOFTWARE,
    version: [
      { type: { text: 'software' }, value: result.version },
      ...result.models.map((model) => ({
        type: { text: 'model-sha256' },
        component: { value: `${model.id}@${model.version}` },
        value: model.sha256,
      })),
    ],
  };
}

/** Returns the identifier by which the conditional create finds an existing Device. */
export function deviceIdentifier({ result, resultSystem }: ReportContext): Identifier {
  const weights = createHash('sha256')
    .update(
      result.models
        .map((model) => model.sha256)
        .sort()
        .join(),
    )
    .digest('hex')
    .slice(0, 12);
  const version = `${result.endpoint}@${result.version}+${weights}`;
  return resultSystem === null
    ? resultIdentifier(null, version, 'Device')
    : { system: `${resultSystem}/device`, value: version };
}
