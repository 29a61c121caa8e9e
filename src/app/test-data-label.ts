/** How FHIR marks data that are about nobody (Security Labels, v3-ActReason). */
export const TEST_DATA = {
  system: 'http://terminology.hl7.org/CodeSystem/v3-ActReason',
  code: 'HTEST',
  display: 'test health data',
};
