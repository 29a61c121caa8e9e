import type { DicomIdentity } from '../../pipelines/dicom/subject.ts';
import type { InstanceHeader } from '../../src/core/studies/instance-header.ts';

type Over = Partial<Omit<InstanceHeader, 'identity'>> & { identity?: Partial<DicomIdentity> };

/** Returns a header without any optional values. */
export function instanceHeader({ identity, ...over }: Over = {}): InstanceHeader {
  return {
    sopClassUid: '1.2.840.10008.5.1.4.1.1.6.1',
    sopInstanceUid: '1.2.3.1.1',
    studyInstanceUid: '1.2.3',
    seriesInstanceUid: '1.2.3.1',
    modality: 'US',
    rows: 600,
    columns: 800,
    numberOfFrames: 1,
    procedureCodes: [],
    lastMenstrualDate: '',
    statedAgeDays: null,
    patientAge: '',
    patientSizeMetres: null,
    patientWeightKilograms: null,
    ...over,
    identity: {
      SpecificCharacterSet: null,
      PatientName: '',
      PatientID: '',
      IssuerOfPatientID: '',
      PatientBirthDate: '',
      PatientSex: '',
      StudyInstanceUID: '1.2.3',
      StudyDate: '',
      StudyTime: '',
      StudyID: '',
      StudyDescription: '',
      AccessionNumber: '',
      ReferringPhysicianName: '',
      AcquisitionDateTime: '',
      TimezoneOffsetFromUTC: '',
      ...identity,
    },
  };
}
