# Builds the image for several architectures:
#
#   docker buildx bake                          # for this machine, into the local image store
#   docker buildx bake --push all               # for all platforms; TAG=registry.example/etagere:0.1.0
#
# Only the last stage runs on the target architecture, which needs QEMU where it is not that of the
# machine: docker run --privileged --rm tonistiigi/binfmt --install arm64
variable "TAG" {
  default = "etagere:latest"
}

group "default" {
  targets = ["image"]
}

target "image" {
  context = "."
  tags    = [TAG]
}

target "all" {
  inherits  = ["image"]
  platforms = ["linux/amd64", "linux/arm64"]
  attest    = ["type=provenance,mode=max", "type=sbom"]
}
