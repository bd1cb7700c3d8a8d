class Parley < Formula
  desc "Answers questions over your own documents with the LLM of your choice"
  homepage "https://github.com/parley-search/parley"
  version "VERSION"
  license "Apache-2.0"

  on_macos do
    on_arm do
      url "https://github.com/parley-search/parley/releases/download/vVERSION/parley-VERSION-darwin-arm64.tar.gz"
      sha256 "DARWIN_ARM64"
    end
    on_intel do
      url "https://github.com/parley-search/parley/releases/download/vVERSION/parley-VERSION-darwin-amd64.tar.gz"
      sha256 "DARWIN_AMD64"
    end
  end

  on_linux do
    on_arm do
      url "https://github.com/parley-search/parley/releases/download/vVERSION/parley-VERSION-linux-arm64.tar.gz"
      sha256 "LINUX_ARM64"
    end
    on_intel do
      url "https://github.com/parley-search/parley/releases/download/vVERSION/parley-VERSION-linux-amd64.tar.gz"
      sha256 "LINUX_AMD64"
    end
  end

  def install
    bin.install "parley"
  end

  def post_install
    (var/"parley").mkpath
  end

  service do
    run [opt_bin/"parley", "serve"]
    working_dir var/"parley" # data, plugins and backups are below it
    keep_alive true
    error_log_path var/"log/parley.log"
  end

  test do
    assert_match "parley #{version}", shell_output("#{bin}/parley version")
  end
end
