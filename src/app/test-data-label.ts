/** The FHIR tag of test data (Security Labels, v3-ActReason). */
export const TEST_DATA = {
  system: 'http://terminology.hl7.org/CodeSystem/v3-ActReason',
  code: 'HTEST',
  display: 'test health data',
};
