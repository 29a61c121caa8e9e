/**
 * Identifiers of the gateway in associations, in file meta information (PS3.7 D.3.3.2, PS3.10 7.1)
 * and in the objects it creates (PS3.3 C.7.5.1). They never change, because other systems recognise
 * the gateway by them.
 */
export const IMPLEMENTATION_CLASS_UID = '2.25.169341957018733126024411829457170226503';
export const IMPLEMENTATION_VERSION = 'SONOGATE_1';
export const MANUFACTURER = 'Sonogate';
