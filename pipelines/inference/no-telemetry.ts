/**
 * Disables the telemetry of ONNX Runtime, because no data may leave a hospital unless requested.
 * From version 1.29 on, the library reports the operating system and the opened models to its
 * vendor over the network, and stores a machine identifier in the home folder
 * (microsoft/onnxruntime#27379). The library reads this variable once, when it is loaded, and a
 * thread starts with a copy of the environment. Therefore this file must be loaded before the
 * library, and before a thread that uses the library starts.
 */
process.env.ORT_DISABLE_TELEMETRY = '1';
