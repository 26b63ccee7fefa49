# Builds the image:
#
#   docker buildx bake                                             # for this machine, any builder
#
# For all platforms, with provenance and a bill of materials, into a registry. The default builder
# of Docker ("docker") can do neither, so that another one is created first:
#
#   docker buildx create --name etagere --driver docker-container
#   REGISTRY=registry.example/team/ docker buildx bake --builder etagere --push all
#
# Nothing runs on the target architecture, so that no emulation is needed.
variable "REGISTRY" {
  default = ""
}
variable "VERSION" {
  default = "0.1.0"
}
variable "REVISION" {
  default = ""
}
variable "CREATED" {
  default = ""
}

group "default" {
  targets = ["image"]
}

target "image" {
  context = "."
  tags    = ["${REGISTRY}etagere:${VERSION}"]
  args = {
    VERSION  = VERSION
    REVISION = REVISION
    CREATED  = CREATED
  }
}

target "all" {
  inherits  = ["image"]
  platforms = ["linux/amd64", "linux/arm64"]
  attest    = ["type=provenance,mode=max", "type=sbom"]
}
