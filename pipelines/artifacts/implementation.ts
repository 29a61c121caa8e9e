/** Who we are on the wire and in file meta information (PS3.7 D.3.3.2, PS3.10 7.1). Fixed for good. */
export const IMPLEMENTATION_CLASS_UID = '2.25.169341957018733126024411829457170226503';
export const IMPLEMENTATION_VERSION = 'SONOGATE_1';
