import type { DicomIdentity, Subject } from '../../../pipelines/dicom/subject.ts';

export const US_IMAGE = '1.2.840.10008.5.1.4.1.1.6.1';
export const US_MULTIFRAME = '1.2.840.10008.5.1.4.1.1.3.1';

export const IDENTITY: DicomIdentity = {
  SpecificCharacterSet: 'ISO_IR 192',
  PatientName: 'Beispiel^Zoë^^Dr.',
  PatientID: 'PID-4711',
  IssuerOfPatientID: 'HOSPITAL-A',
  PatientBirthDate: '19940312',
  PatientSex: 'F',
  StudyInstanceUID: '2.25.1111',
  StudyDate: '20260504',
  StudyTime: '101500',
  StudyID: '77',
  StudyDescription: 'OB growth scan',
  AccessionNumber: 'ACC-2026-5',
  ReferringPhysicianName: 'Praxis^Anna',
  AcquisitionDateTime: '',
  TimezoneOffsetFromUTC: '+0200',
};

export const SUBJECT: Subject = {
  requestId: 'req_01k0exampleexampleexample00',
  identity: IDENTITY,
  instances: [
    {
      sopClassUid: US_IMAGE,
      sopInstanceUid: '2.25.2001',
      seriesInstanceUid: '2.25.1112',
      file: 'head.dcm',
      numberOfFrames: 1,
      rows: 480,
      columns: 640,
    },
    {
      sopClassUid: US_MULTIFRAME,
      sopInstanceUid: '2.25.2002',
      seriesInstanceUid: '2.25.1112',
      file: 'abdomen.dcm',
      numberOfFrames: 8,
      rows: 480,
      columns: 640,
    },
    {
      sopClassUid: US_IMAGE,
      sopInstanceUid: '2.25.2003',
      seriesInstanceUid: '2.25.1113',
      file: 'femur.dcm',
      numberOfFrames: 1,
      rows: 480,
      columns: 640,
    },
  ],
  dating: { gaDays: 196, basis: 'lmp' },
};

export const ANONYMOUS: Subject = { ...SUBJECT, identity: null };
