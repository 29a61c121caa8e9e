/**
 * Names by which the gateway identifies itself in associations, in file meta information (PS3.7
 * D.3.3.2, PS3.10 7.1) and in the objects that it makes (PS3.3 C.7.5.1). Peers recognise the
 * gateway by these, so they never change.
 */
export const IMPLEMENTATION_CLASS_UID = '2.25.169341957018733126024411829457170226503';
export const IMPLEMENTATION_VERSION = 'SONOGATE_1';
export const MANUFACTURER = 'Sonogate';
